// expect: js-vm
const vm = require("vm");
vm.runInNewContext("this.constructor");
