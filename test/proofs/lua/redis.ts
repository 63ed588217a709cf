import { executed } from './interpreter.ts';
import { library } from './library.ts';
import { parsed, type Statement } from './syntax.ts';
import { LuaTable } from './table.ts';

/** What a script has set: a value and its life. */
export interface Written {
  readonly value: unknown;
  /** In milliseconds, as the script gives it. Undefined for a value from before the script. */
  readonly lifeMs?: unknown;
}

/** What 2026-01-01 UTC is in seconds since 1970. */
const EPOCH_SECONDS = 1_767_225_600;

/** Keys and a clock, for scripts that use GET, SET, DEL and TIME. */
export class RedisData {
  readonly keys = new Map<string, Written>();
  /** Whole microseconds since 2026. */
  nowMicros: unknown = 0;

  /** Executes a script. Plain arguments are texts, as a server gets them. @returns Its reply as an array. */
  run(program: readonly Statement[], keys: readonly string[], args: readonly unknown[]): readonly unknown[] {
    const command = (name: string, ...values: readonly unknown[]): unknown => this.#command(name, values);
    const globals = {
      ...library,
      KEYS: LuaTable.of(keys),
      ARGV: LuaTable.of(args.map((arg) => (typeof arg === 'number' ? String(arg) : arg))),
      redis: { call: command, pcall: command },
    };
    return replyOf(executed(program, globals) as LuaTable);
  }

  #command(name: string, [key, ...values]: readonly unknown[]): unknown {
    const at = key as string;
    if (name === 'TIME') return LuaTable.of([EPOCH_SECONDS, this.nowMicros]);
    // A value that is not there is false in scripts of Redis.
    if (name === 'GET') return this.keys.get(at)?.value ?? false;
    if (name === 'DEL') return this.keys.delete(at);
    if (name !== 'SET' || values[1] !== 'PX') throw new Error(`No command ${name} ${String(values[1])}`);
    this.keys.set(at, { value: values[0], lifeMs: values[2] });
    return 'OK';
  }
}

/** The elements up to the longest place: nil is undefined. */
function replyOf(table: LuaTable): readonly unknown[] {
  const longest = Math.max(...[...table.entries.keys()].map(Number));
  return Array.from({ length: longest }, (_, i) => table.get(i + 1));
}

const scripts = new Map<string, readonly Statement[]>();

/** Parses a script once. */
export function script(source: string): readonly Statement[] {
  const known = scripts.get(source) ?? parsed(source);
  scripts.set(source, known);
  return known;
}
