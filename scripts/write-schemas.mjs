// Writes the JSON Schemas of limits as files, as the loader has them: npm run trial -- schemas
import { writeFileSync } from 'node:fs';
import { LIMITS_SCHEMA, OVERRIDES_SCHEMA } from '../tools/config/src/shape/schemas.ts';
import { TABLES_SCHEMA } from '../tools/serve/src/tables/schema.ts';
import { formatted } from './formatted.mjs';

const schemas = {
  'config/schema/limits': LIMITS_SCHEMA,
  'config/schema/overrides': OVERRIDES_SCHEMA,
  'serve/schema/tables': TABLES_SCHEMA,
};
for (const [name, schema] of Object.entries(schemas)) {
  const file = new URL(`../tools/${name}.schema.json`, import.meta.url);
  writeFileSync(file, await formatted(`${name}.json`, JSON.stringify(schema)));
}
