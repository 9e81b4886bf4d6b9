/* parse_args.js - util.parseArgs: options of a command line. */
import { checkObject, invalidArgType, makeError } from "./errors.js";

function unknownOption(name, raw, allowPositionals) {
    const advice = allowPositionals
        ? `. To specify a positional argument starting with a '-', place it at the end of the command ` +
            `after '--', as in '-- "${raw}"` : "";
    return makeError(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${raw}'${advice}`);
}

function badValue(message) {
    return makeError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", message);
}

function byShort(options, letter) {
    return Object.keys(options).find((name) => options[name].short === letter);
}

/* The arguments as tokens: options with their values, positionals, the terminator. */
function tokenize(args, options) {
    const tokens = [];
    for (let index = 0; index < args.length; index++) {
        const arg = args[index];
        if (arg === "--") {
            tokens.push({ kind: "option-terminator", index });
            for (index++; index < args.length; index++) {
                tokens.push({ kind: "positional", index, value: args[index] });
            }
            break;
        }
        if (/^-[^-]/.test(arg)) {
            for (let at = 1; at < arg.length; at++) {
                const name = byShort(options, arg[at]) ?? arg[at];
                const takesValue = options[name]?.type === "string";
                const rawName = `-${arg[at]}`;
                if (takesValue && at + 1 < arg.length) {
                    tokens.push({ kind: "option", name, rawName, index, value: arg.slice(at + 1),
                        inlineValue: true });
                    break;
                }
                const hasNext = takesValue && index + 1 < args.length;
                tokens.push({ kind: "option", name, rawName, index,
                    value: hasNext ? args[index + 1] : undefined,
                    inlineValue: hasNext ? false : undefined });
                index += hasNext ? 1 : 0;
            }
        } else if (arg.startsWith("--")) {
            const equals = arg.indexOf("=");
            const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
            const rawName = `--${name}`;
            if (equals >= 0) {
                tokens.push({ kind: "option", name, rawName, index, value: arg.slice(equals + 1),
                    inlineValue: true });
                continue;
            }
            const hasNext = options[name]?.type === "string" && index + 1 < args.length;
            tokens.push({ kind: "option", name, rawName, index,
                value: hasNext ? args[index + 1] : undefined, inlineValue: hasNext ? false : undefined });
            index += hasNext ? 1 : 0;
        } else {
            tokens.push({ kind: "positional", index, value: arg });
        }
    }
    return tokens;
}

function checkToken(token, options, allowPositionals) {
    const option = options[token.name];
    if (option === undefined) {
        throw unknownOption(token.name, token.rawName, allowPositionals);
    }
    const shown = option.short ? `-${option.short}, --${token.name}` : `--${token.name}`;
    if (option.type === "string" && typeof token.value !== "string") {
        throw badValue(`Option '${shown} <value>' argument missing`);
    }
    if (option.type === "boolean" && token.value !== undefined) {
        throw badValue(`Option '${shown}' does not take an argument`);
    }
    if (option.type === "string" && token.inlineValue === false && /^-./.test(token.value)) {
        throw badValue(`Option '${token.rawName}' argument is ambiguous.\nDid you forget to specify the ` +
            `option argument for '${token.rawName}'?\nTo specify an option argument starting with a dash ` +
            `use '${token.rawName.startsWith("--") ? `${token.rawName}=-XYZ` : `--${token.name}=-XYZ`}'.`);
    }
}

function checkOptions(options) {
    checkObject(options, "options");
    for (const [name, option] of Object.entries(options)) {
        checkObject(option, `options.${name}`);
        if (option.type !== "string" && option.type !== "boolean") {
            throw invalidArgType(`options.${name}.type`, "('string|boolean')", option.type);
        }
    }
}

export function parseArgs(config = {}) {
    const { options = {}, strict = true, tokens: wantsTokens = false } = config;
    const allowPositionals = config.allowPositionals ?? !strict;
    const args = config.args ?? process.argv.slice(2);
    checkOptions(options);
    const tokens = tokenize([...args], options);
    const values = Object.create(null);
    const positionals = [];
    for (const token of tokens) {
        if (token.kind === "positional") {
            if (!allowPositionals) {
                throw makeError(TypeError, "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL",
                    `Unexpected argument '${token.value}'. This command does not take positional arguments`);
            }
            positionals.push(token.value);
        } else if (token.kind === "option") {
            if (strict) {
                checkToken(token, options, allowPositionals);
            }
            if (token.name === "__proto__") {
                continue;
            }
            const value = token.value ?? true;
            if (options[token.name]?.multiple) {
                values[token.name] = [...values[token.name] ?? [], value];
            } else {
                values[token.name] = value;
            }
        }
    }
    for (const [name, option] of Object.entries(options)) {
        if (option.default !== undefined && values[name] === undefined) {
            values[name] = option.default;
        }
    }
    return wantsTokens ? { values, positionals, tokens } : { values, positionals };
}
