import { isCondition } from '../engine/condition.ts';
import { eq, ge, gt, le, lt, not, truthy } from '../engine/operators.ts';
import { resultAt } from '../engine/sabotage.ts';
import { calculated, negative } from './numbers.ts';
import { LuaTable } from './table.ts';
import type { Expression, Statement } from './syntax.ts';

type Function = (...args: unknown[]) => unknown;
type Any = never;

/** The variables of a block. */
class Scope {
  readonly #variables = new Map<string, unknown>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  declare(name: string, value: unknown): void {
    this.#variables.set(name, value);
  }

  get(name: string): unknown {
    // oxlint-disable-next-line typescript/no-this-alias -- the scopes around it, from the inside out
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.#outer) {
      const value = scope.#variables.get(name);
      if (value !== undefined || scope.#variables.has(name)) return value;
    }
    return undefined;
  }

  set(name: string, value: unknown): void {
    if (this.#variables.has(name) || this.#outer === undefined) this.#variables.set(name, value);
    else this.#outer.set(name, value);
  }
}

/** Ends a script. */
class Returned {
  readonly values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.values = values;
  }
}

/** Loops that take longer have no end. */
const MOST_ROUNDS = 10_000;

/** Executes a script and gives what it returns. A function that gives several values gives them as a `LuaTable` list. */
export function executed(script: readonly Statement[], globals: Readonly<Record<string, unknown>>): unknown {
  const scope = new Scope();
  for (const [name, value] of Object.entries(globals)) scope.declare(name, value);
  return block(script, scope)?.values[0];
}

/** Several values of a function. */
export class Values {
  readonly all: readonly unknown[];

  constructor(...all: readonly unknown[]) {
    this.all = all;
  }
}

function block(statements: readonly Statement[], outer: Scope): Returned | undefined {
  const scope = new Scope(outer);
  for (const statement of statements) {
    const returned = execute(statement, scope);
    if (returned !== undefined) return returned;
  }
  return undefined;
}

function execute(statement: Statement, scope: Scope): Returned | undefined {
  switch (statement.type) {
    case 'LocalStatement': {
      const values = valuesOf(statement.init, scope);
      for (const [i, { name }] of statement.variables.entries()) scope.declare(name, values[i]);
      return undefined;
    }
    case 'AssignmentStatement': {
      const values = valuesOf(statement.init, scope);
      for (const [i, target] of statement.variables.entries()) assign(target, values[i], scope);
      return undefined;
    }
    case 'CallStatement':
      evaluate(statement.expression, scope);
      return undefined;
    case 'IfStatement': {
      const taken = statement.clauses.find(
        ({ condition }) => condition === undefined || isTrue(evaluate(condition, scope)),
      );
      return taken && block(taken.body, scope);
    }
    case 'WhileStatement':
      return loop(statement, scope);
    case 'ForNumericStatement':
      return count(statement, scope);
    case 'ReturnStatement':
      return new Returned(valuesOf(statement.arguments, scope));
    default:
      throw new Error(`No statement of this kind: ${(statement as { type: string }).type}`);
  }
}

function loop({ condition, body }: Extract<Statement, { type: 'WhileStatement' }>, scope: Scope): Returned | undefined {
  for (let rounds = 0; isTrue(evaluate(condition, scope)); rounds++) {
    if (rounds > MOST_ROUNDS) throw new Error('A loop of the script does not end');
    const returned = block(body, scope);
    if (returned !== undefined) return returned;
  }
  return undefined;
}

function count(statement: Extract<Statement, { type: 'ForNumericStatement' }>, scope: Scope): Returned | undefined {
  const { variable, start, end, step, body } = statement;
  const [from, to] = [evaluate(start, scope), evaluate(end, scope)];
  const by = step === null ? 1 : evaluate(step, scope);
  if (typeof by !== 'number' || typeof from !== 'number') throw new Error('A loop begins at an unknown number');
  for (let i = from, rounds = 0; truthy(le(i as Any, to as Any)); i += by, rounds++) {
    if (rounds > MOST_ROUNDS) throw new Error('A loop of the script does not end');
    const inner = new Scope(scope);
    inner.declare(variable.name, i);
    const returned = block(body, inner);
    if (returned !== undefined) return returned;
  }
  return undefined;
}

function assign(target: Expression, value: unknown, scope: Scope): void {
  if (target.type === 'Identifier') return scope.set(target.name, value);
  if (target.type !== 'IndexExpression') throw new Error(`No target of this kind: ${target.type}`);
  (evaluate(target.base, scope) as LuaTable).set(evaluate(target.index, scope), value);
}

/** A list of expressions: the last one may give several values. */
function valuesOf(expressions: readonly Expression[], scope: Scope): readonly unknown[] {
  const values: unknown[] = [];
  for (let i = 0; i < expressions.length; i++) {
    const value = call(expressions[i]!, scope);
    if (!(value instanceof Values)) values.push(value);
    else if (i === expressions.length - 1) values.push(...value.all);
    else values.push(value.all[0]);
  }
  return values;
}

function evaluate(expression: Expression, scope: Scope): unknown {
  const value = call(expression, scope);
  return value instanceof Values ? value.all[0] : value;
}

function call(expression: Expression, scope: Scope): unknown {
  switch (expression.type) {
    case 'Identifier':
      return scope.get(expression.name);
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return expression.value;
    case 'NilLiteral':
      return undefined;
    case 'TableConstructorExpression':
      return LuaTable.of(
        valuesOf(
          expression.fields.map(({ value }) => value),
          scope,
        ),
      );
    case 'BinaryExpression':
      return resultAt(
        binary(expression.operator, evaluate(expression.left, scope), evaluate(expression.right, scope)),
        expression,
      );
    case 'LogicalExpression': {
      const left = evaluate(expression.left, scope);
      return isTrue(left) === (expression.operator === 'and') ? evaluate(expression.right, scope) : left;
    }
    case 'UnaryExpression':
      return unary(expression.operator, evaluate(expression.argument, scope));
    case 'MemberExpression':
      return member(evaluate(expression.base, scope), expression.identifier.name);
    case 'IndexExpression':
      return member(evaluate(expression.base, scope), evaluate(expression.index, scope));
    case 'CallExpression':
      return resultAt(
        (evaluate(expression.base, scope) as Function)(...valuesOf(expression.arguments, scope)),
        expression,
      );
    default:
      throw new Error(`No expression of this kind: ${(expression as { type: string }).type}`);
  }
}

function member(base: unknown, key: unknown): unknown {
  if (base instanceof LuaTable) return base.get(key);
  // An attribute of a text: there is none.
  if (typeof base === 'string') return undefined;
  if (base !== null && typeof base === 'object') return (base as Record<string, unknown>)[key as string];
  throw new Error(`${String(key)} of ${String(base)}, which is no table`);
}

function binary(operator: string, left: unknown, right: unknown): unknown {
  switch (operator) {
    case '==':
      return eq(left as Any, right as Any);
    case '~=':
      return not(eq(left as Any, right as Any) as Any);
    case '<':
      return lt(left as Any, right as Any);
    case '<=':
      return le(left as Any, right as Any);
    case '>':
      return gt(left as Any, right as Any);
    case '>=':
      return ge(left as Any, right as Any);
    case '..':
      return `${String(left)}${String(right)}`;
    default:
      return calculated(operator, left, right);
  }
}

function unary(operator: string, value: unknown): unknown {
  if (operator === 'not') return isCondition(value) ? not(value as Any) : !isTrue(value);
  if (operator === '#') return value instanceof LuaTable ? value.length : (value as string).length;
  return negative(value);
}

/** In Lua, all but nil and false is true. */
function isTrue(value: unknown): boolean {
  return isCondition(value) ? truthy(value) : value !== undefined && value !== false;
}
