/**
 * What the other packages of the family share with this one: to read files of their own with the same care, and to report
 * their mistakes in the same way. It may change in any version; users need none of it.
 *
 * @module
 */
export { problemsError, problemsOf } from './check/problem.ts';
export { FileSignatures } from './live/file-signatures.ts';
export { readWithoutKeys } from './load/load-without-keys.ts';
export { shownNode, wrongNode, wrongValue, type Entry, type Mapping, type Node } from './nodes/node.ts';
export type { Position } from './nodes/position.ts';
export { Problems } from './nodes/problems.ts';
export { isText, rightValue, type Field, type JsonSchema } from './shape/fields.ts';
export { Fields } from './shape/fields.ts';
export { fieldOf, fieldsOf, schemasOf } from './shape/row-field.ts';
export { contentsOf, sourceOf, type Content, type Source } from './sources/source.ts';
export { treeOf, type TreeNames } from './sources/tree.ts';
