import { createRequire } from 'node:module';

/** What the scripts use of Lua 5.1, as luaparse represents it. */
export type Expression =
  | { readonly type: 'Identifier'; readonly name: string }
  | { readonly type: 'StringLiteral' | 'NumericLiteral' | 'BooleanLiteral'; readonly value: unknown }
  | { readonly type: 'NilLiteral' }
  | { readonly type: 'TableConstructorExpression'; readonly fields: readonly { readonly value: Expression }[] }
  | {
      readonly type: 'BinaryExpression' | 'LogicalExpression';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly type: 'UnaryExpression'; readonly operator: string; readonly argument: Expression }
  | { readonly type: 'MemberExpression'; readonly base: Expression; readonly identifier: { readonly name: string } }
  | { readonly type: 'IndexExpression'; readonly base: Expression; readonly index: Expression }
  | { readonly type: 'CallExpression'; readonly base: Expression; readonly arguments: readonly Expression[] };

export type Statement =
  | {
      readonly type: 'LocalStatement';
      readonly variables: readonly { readonly name: string }[];
      readonly init: readonly Expression[];
    }
  | {
      readonly type: 'AssignmentStatement';
      readonly variables: readonly Expression[];
      readonly init: readonly Expression[];
    }
  | { readonly type: 'CallStatement'; readonly expression: Expression }
  | {
      readonly type: 'IfStatement';
      readonly clauses: readonly { readonly condition?: Expression; readonly body: readonly Statement[] }[];
    }
  | { readonly type: 'WhileStatement'; readonly condition: Expression; readonly body: readonly Statement[] }
  | {
      readonly type: 'ForNumericStatement';
      readonly variable: { readonly name: string };
      readonly start: Expression;
      readonly end: Expression;
      readonly step: Expression | null;
      readonly body: readonly Statement[];
    }
  | { readonly type: 'ReturnStatement'; readonly arguments: readonly Expression[] };

interface Luaparse {
  parse(source: string, options: object): { readonly body: readonly Statement[] };
}

const luaparse = createRequire(import.meta.url)('luaparse') as Luaparse;

/** Parses a script. */
export function parsed(source: string): readonly Statement[] {
  return luaparse.parse(source, { luaVersion: '5.1', encodingMode: 'pseudo-latin1', comments: false }).body;
}
