import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { LIMITS_SCHEMA, OVERRIDES_SCHEMA } from '../src/shape/schemas.ts';
import { GOOD_CASES } from './good-cases.ts';
import { PROBLEM_CASES } from './problems/problem-cases.ts';
import { LIMITS, problemsOf } from './written-files.ts';

const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
const SCHEMAS = { limits: ajv.compile(LIMITS_SCHEMA), overrides: ajv.compile(OVERRIDES_SCHEMA) };

/** Whether an editor accepts a file: as YAML, and by the schema. */
function editorAccepts(part: 'limits' | 'overrides', text: string | Uint8Array): boolean {
  try {
    return SCHEMAS[part](
      parse(typeof text === 'string' ? text : new TextDecoder().decode(text), { strict: true, logLevel: 'error' }),
    );
  } catch {
    return false;
  }
}

describe('the schemas reject what the loader rejects, except for what a schema can not know:', () => {
  it.each(PROBLEM_CASES)('$name', ({ limits, overrides, schemaAccepts }) => {
    const accepted =
      (limits === undefined || editorAccepts('limits', limits)) &&
      (overrides === undefined || editorAccepts('overrides', overrides));
    expect(accepted).toBe(schemaAccepts !== undefined);
  });
});

describe('the loader and the schemas accept:', () => {
  it.each(GOOD_CASES)('$name', async ({ limits = LIMITS, overrides = '[]\n' }) => {
    expect(await problemsOf({ limits, overrides, ids: '# none\n' })).toEqual([]);
    expect([editorAccepts('limits', limits), editorAccepts('overrides', overrides)]).toEqual([true, true]);
  });
});

it.each([
  ['limits', LIMITS_SCHEMA],
  ['overrides', OVERRIDES_SCHEMA],
])('the published schema of %s is that of the loader: run npm run trial -- schemas after a change', (name, schema) => {
  const file = new URL(`../schema/${name}.schema.json`, import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(schema)));
});
