// Writes the JSON Schemas of limits as files, as the loader has them: node scripts/write-schemas.mjs
import { writeFileSync } from 'node:fs';
import { LIMITS_SCHEMA, OVERRIDES_SCHEMA } from '../packages/config/dist/shape/schemas.js';
import { TABLES_SCHEMA } from '../packages/serve/dist/tables/schema.js';
import { formatted } from './formatted.mjs';

const schemas = {
  'config/schema/limits': LIMITS_SCHEMA,
  'config/schema/overrides': OVERRIDES_SCHEMA,
  'serve/schema/tables': TABLES_SCHEMA,
};
for (const [name, schema] of Object.entries(schemas)) {
  const file = new URL(`../packages/${name}.schema.json`, import.meta.url);
  writeFileSync(file, await formatted(`${name}.json`, JSON.stringify(schema)));
}
