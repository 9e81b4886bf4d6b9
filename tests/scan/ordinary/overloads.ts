// One function with several signatures.
function size(x: string): number;
function size(x: unknown[]): number;
function size(x: string | unknown[]): number { return x.length; }
const lengths: number[] = [size("four"), size([1, 2])];
lengths;
