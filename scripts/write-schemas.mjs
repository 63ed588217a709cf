// Writes the JSON Schemas of limits as files, as the loader has them: node scripts/write-schemas.mjs
import { writeFileSync } from 'node:fs';
import prettier from 'prettier';
import { LIMITS_SCHEMA, OVERRIDES_SCHEMA } from '../packages/config/dist/shape/schemas.js';

for (const [name, schema] of Object.entries({ limits: LIMITS_SCHEMA, overrides: OVERRIDES_SCHEMA })) {
  const file = new URL(`../packages/config/schema/${name}.schema.json`, import.meta.url);
  const options = await prettier.resolveConfig(file);
  writeFileSync(file, await prettier.format(JSON.stringify(schema), { ...options, parser: 'json' }));
}
