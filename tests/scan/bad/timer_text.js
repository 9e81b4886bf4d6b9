// expect: js-timer-text
setTimeout("console.log('later')", 10);
