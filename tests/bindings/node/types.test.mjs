/* types.test.mjs - the types of the package, by the compiler of TypeScript: what they accept, infer and refuse, and
 * that what they promise is there. */
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, test } from "node:test";
import { folder, iso4, root, secureExec, vial } from "./helpers.mjs";

const require = createRequire(path.join(root, "package.json"));
const ts = require("typescript");
const place = fs.mkdtempSync(path.join(folder, "types-")); // where import ... from "vial" leads to the package
after(() => fs.rmSync(place, { recursive: true }));

function compile(name, source) {
    const file = path.join(place, name);
    fs.writeFileSync(file, source);
    return ts.createProgram([file], {
        noEmit: true, strict: true, target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts", "lib.esnext.disposable.d.ts"], module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext, types: ["node"], typeRoots: [path.join(root, "node_modules/@types")], skipLibCheck: false,
    });
}

const problems = (program) => ts.getPreEmitDiagnostics(program).map((one) => {
    const at = one.file?.getLineAndCharacterOfPosition(one.start).line;
    return `${one.file?.fileName}:${at + 1}: ${ts.flattenDiagnosticMessageText(one.messageText, " ")}`;
});

test("types/uses.ts: accepted, inferred and refused as it says", () => {
    const source = fs.readFileSync(path.join(root, "tests/bindings/node/types/uses.ts"), "utf8");
    assert.equal(source.match(/@ts-expect-error/g).length > 30, true);
    assert.deepEqual(problems(compile("uses.mts", source)), []);
});

test("the compiler does look", () => {
    const found = problems(compile("wrong.mts", 'import { run } from "vial";\nawait run(5);\nconst n: string = (await run<number>("1")).valueOrThrow();\nvoid n;\n'));
    assert.equal(found.length, 2, found.join("\n"));
});

test("what the types promise is there", () => {
    const program = compile("all.mts", 'export * as vial from "vial";\nexport * as iso4 from "vial/iso4";\nexport * as secureExec from "vial/secure-exec";\n');
    const checker = program.getTypeChecker();
    const all = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(path.join(place, "all.mts"))));
    const isValue = (symbol) => (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Function | ts.SymbolFlags.Variable)) !== 0;
    let methods = 0;
    for (const space of all) {
        const real = { vial, iso4, secureExec }[space.name];
        const promised = checker.getExportsOfModule(checker.getAliasedSymbol(space)).filter(isValue);
        assert.deepEqual(promised.map((symbol) => symbol.name).sort(), Object.keys(real).sort(), space.name);
        for (const symbol of promised.filter((one) => one.flags & ts.SymbolFlags.Class)) {
            for (const member of checker.getDeclaredTypeOfSymbol(symbol).getProperties().filter((one) => one.flags & ts.SymbolFlags.Method && !one.name.startsWith("__@"))) {
                assert.equal(typeof real[symbol.name].prototype[member.name], "function", `${symbol.name}.${member.name}`);
                methods++;
            }
        }
    }
    assert.equal(methods > 30, true);
});
