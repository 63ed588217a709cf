import { complaint, leafOf } from '@sluice/core/kit';
import { wrongNode, type Node, type Scalar } from '../nodes/node.ts';

/** The part of JSON Schema that the two files need: draft 7, which editors support best. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema | false>>;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly anyOf?: readonly JsonSchema[];
}

/** A field of a limit or an override: its schema for editors, with the description, and its check by the loader. */
export interface Field {
  readonly schema: JsonSchema;
  /**
   * Validates and returns the value.
   *
   * @param option - The name of the field in messages, such as `NewOrders.count`.
   * @throws {SluiceError} If the value is wrong, with the option, the demand, the value and the remedy.
   */
  read(option: string, node: Node): unknown;
}

/** Returns the node of a value that is neither a list nor a mapping, or throws. */
export function scalarOf(option: string, node: Node, { demand, example }: { demand: string; example: string }): Scalar {
  if (node.kind === 'scalar') return node;
  throw wrongNode(option, demand, node, `For example ${leafOf(option)}: ${example}.`);
}

/** Returns the value of a scalar, or throws. */
export function rightValue(
  option: string,
  node: Node,
  { demand, example }: { readonly demand: string; readonly example: string },
  isRight: (value: unknown) => boolean,
): unknown {
  const { value } = scalarOf(option, node, { demand, example });
  if (isRight(value)) return value;
  throw complaint('ERR_OPTION', { option, demand, value, remedy: `For example ${leafOf(option)}: ${example}.` });
}

/** Whether a value is a text that is not empty. */
export function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
