// Rewrites TypeScript so that it can run on unknown numbers: operators, conditions and `typeof` become calls, and Math,
// Number, Float64Array and Date are those of the engine. On plain values the source does what it did before.
import ts from 'typescript';

const { factory, SyntaxKind } = ts;
const OPERATORS = '__operators';

const BINARY = new Map([
  [SyntaxKind.PlusToken, 'add'],
  [SyntaxKind.MinusToken, 'sub'],
  [SyntaxKind.AsteriskToken, 'mul'],
  [SyntaxKind.SlashToken, 'div'],
  [SyntaxKind.PercentToken, 'mod'],
  [SyntaxKind.LessThanToken, 'lt'],
  [SyntaxKind.LessThanEqualsToken, 'le'],
  [SyntaxKind.GreaterThanToken, 'gt'],
  [SyntaxKind.GreaterThanEqualsToken, 'ge'],
  [SyntaxKind.EqualsEqualsEqualsToken, 'eq'],
  [SyntaxKind.ExclamationEqualsEqualsToken, 'ne'],
]);

const ASSIGNING = new Map([
  [SyntaxKind.PlusEqualsToken, SyntaxKind.PlusToken],
  [SyntaxKind.MinusEqualsToken, SyntaxKind.MinusToken],
  [SyntaxKind.AsteriskEqualsToken, SyntaxKind.AsteriskToken],
  [SyntaxKind.SlashEqualsToken, SyntaxKind.SlashToken],
  [SyntaxKind.PercentEqualsToken, SyntaxKind.PercentToken],
  [SyntaxKind.AmpersandAmpersandEqualsToken, SyntaxKind.AmpersandAmpersandToken],
  [SyntaxKind.BarBarEqualsToken, SyntaxKind.BarBarToken],
]);

/**
 * @param {string} source
 * @param {string} fileName
 * @param {string} engine the URL of the folder of the engine
 */
export function rewritten(source, fileName, engine) {
  place = fileName.includes('/packages/') ? { file: fileName, count: 0 } : undefined;
  return output(source, fileName, { before: [(context) => (file) => withImports(transformed(file, context), engine)] });
}

/** Where the next operator is, in a source that ships. Those are broken on purpose: sabotage.ts. @type {{ file: string, count: number } | undefined} */
let place;

/** Leaves out the types. @param {string} source @param {string} fileName */
export function stripped(source, fileName) {
  return output(source, fileName, {});
}

/** @param {string} source @param {string} fileName @param {ts.CustomTransformers} transformers */
function output(source, fileName, transformers) {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    verbatimModuleSyntax: true,
    inlineSourceMap: true,
  };
  return ts.transpileModule(source, { compilerOptions, fileName, transformers }).outputText;
}

/** @param {ts.SourceFile} file @param {ts.TransformationContext} context */
function transformed(file, context) {
  /** @type {ts.Visitor} */
  const visit = (node) => replaced(ts.visitEachChild(node, visit, context));
  return ts.visitEachChild(file, visit, context);
}

/** @param {ts.Node} node with rewritten children @returns {ts.Node} */
function replaced(node) {
  if (ts.isBinaryExpression(node)) return binary(node);
  if (ts.isPrefixUnaryExpression(node)) return prefix(node);
  if (ts.isPostfixUnaryExpression(node)) return node;
  if (ts.isTemplateExpression(node)) return template(node);
  if (ts.isTypeOfExpression(node)) return typeOf(node);
  if (isOfMath(node)) return place === undefined ? node : call('result', node, ...site());
  if (ts.isConditionalExpression(node)) {
    return factory.createConditionalExpression(
      truthy(node.condition),
      undefined,
      node.whenTrue,
      undefined,
      node.whenFalse,
    );
  }
  if (ts.isIfStatement(node)) {
    return factory.updateIfStatement(node, truthy(node.expression), node.thenStatement, node.elseStatement);
  }
  if (ts.isWhileStatement(node)) return factory.updateWhileStatement(node, truthy(node.expression), node.statement);
  if (ts.isDoStatement(node)) return factory.updateDoStatement(node, node.statement, truthy(node.expression));
  if (ts.isForStatement(node)) {
    const { initializer, condition, incrementor, statement } = node;
    return factory.updateForStatement(node, initializer, condition && truthy(condition), incrementor, statement);
  }
  if (ts.isSwitchStatement(node)) {
    return factory.updateSwitchStatement(node, call('known', node.expression), node.caseBlock);
  }
  if (ts.isExpressionStatement(node) && ts.isPostfixUnaryExpression(node.expression)) return counted(node);
  return node;
}

/** @param {ts.BinaryExpression} node @returns {ts.Expression} */
function binary(node) {
  const { left, right } = node;
  const kind = node.operatorToken.kind;
  const name = BINARY.get(kind);
  if (name !== undefined) return call(name, left, right, ...site());
  // The left side is kept, because it may be the result.
  if (kind === SyntaxKind.AmpersandAmpersandToken || kind === SyntaxKind.BarBarToken) {
    const isAnd = kind === SyntaxKind.AmpersandAmpersandToken;
    const other = factory.createParenthesizedExpression(factory.createComma(call('held'), right));
    const condition = truthy(call('hold', left));
    return factory.createParenthesizedExpression(
      factory.createConditionalExpression(
        condition,
        undefined,
        isAnd ? other : call('held'),
        undefined,
        isAnd ? call('held') : other,
      ),
    );
  }
  const operator = ASSIGNING.get(kind);
  if (operator === undefined) return node;
  const whole = binary(factory.createBinaryExpression(left, /** @type {ts.BinaryOperator} */ (operator), right));
  return factory.createAssignment(left, whole);
}

/** @param {ts.TypeOfExpression} node @returns {ts.Expression} */
function typeOf({ expression }) {
  if (!ts.isIdentifier(expression)) return call('typeOf', expression);
  // The name may be one that is not defined, which only `typeof` may read.
  const none = factory.createStringLiteral('undefined');
  const isUndefined = factory.createStrictEquality(factory.createTypeOfExpression(expression), none);
  return factory.createParenthesizedExpression(
    factory.createConditionalExpression(isUndefined, undefined, none, undefined, call('typeOf', expression)),
  );
}

/** @param {ts.TemplateExpression} node */
function template({ head, templateSpans }) {
  const texts = [head, ...templateSpans.map(({ literal }) => literal)].map(({ text }) =>
    factory.createStringLiteral(text),
  );
  return call(
    'text',
    factory.createArrayLiteralExpression(texts),
    ...templateSpans.map(({ expression }) => expression),
  );
}

/** @param {ts.PrefixUnaryExpression} node */
function prefix(node) {
  if (node.operator === SyntaxKind.ExclamationToken) return call('not', node.operand);
  if (node.operator === SyntaxKind.MinusToken) return call('neg', node.operand);
  return node.operator === SyntaxKind.PlusToken ? call('num', node.operand) : node;
}

/** `x++` as a statement. @param {ts.ExpressionStatement} node */
function counted(node) {
  const { operand, operator } = /** @type {ts.PostfixUnaryExpression} */ (node.expression);
  const name = operator === SyntaxKind.PlusPlusToken ? 'add' : 'sub';
  const value = call(name, operand, factory.createNumericLiteral(1), ...site());
  return factory.createExpressionStatement(factory.createAssignment(operand, value));
}

/** A call of a function of Math. @param {ts.Node} node @returns {node is ts.CallExpression} */
function isOfMath(node) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { expression: object } = node.expression;
  return ts.isIdentifier(object) && object.text === 'Math';
}

/** The last argument of an operator of a source that ships: its place. @returns {ts.Expression[]} */
function site() {
  return place === undefined ? [] : [factory.createStringLiteral(`${place.file}:${place.count++}`)];
}

/** @param {ts.Expression} condition */
function truthy(condition) {
  return call('truthy', condition, ...site());
}

/** @param {string} name @param {...ts.Expression} args */
function call(name, ...args) {
  const callee = factory.createPropertyAccessExpression(factory.createIdentifier(OPERATORS), name);
  return factory.createCallExpression(callee, undefined, args);
}

/** @param {ts.SourceFile} file @param {string} engine */
function withImports(file, engine) {
  const shadows = ['math as Math', 'number as Number', 'float64Array as Float64Array', 'date as Date'].map((text) => {
    const [name = '', as = ''] = text.split(' as ');
    return factory.createImportSpecifier(false, factory.createIdentifier(name), factory.createIdentifier(as));
  });
  const imports = [
    [factory.createNamespaceImport(factory.createIdentifier(OPERATORS)), 'operators.ts'],
    [factory.createNamedImports(shadows), 'shadows.ts'],
  ].map(([bindings, name]) =>
    factory.createImportDeclaration(
      undefined,
      factory.createImportClause(undefined, undefined, /** @type {ts.NamedImportBindings} */ (bindings)),
      factory.createStringLiteral(engine + /** @type {string} */ (name)),
    ),
  );
  return factory.updateSourceFile(file, [...imports, ...file.statements]);
}
