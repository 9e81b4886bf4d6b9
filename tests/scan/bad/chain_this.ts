// expect: js-constructor-chain
const escape: any = (this as any).constructor.constructor("return globalThis");
escape();
