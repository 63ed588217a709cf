import { schemasOf, type JsonSchema } from '@sluice/config/kit';
import { ENVOY_RULE_FIELDS, ENVOY_TABLE_FIELDS } from './envoy-shape.ts';
import { HTTP_RULE_FIELDS, HTTP_TABLE_FIELDS, TABLE_NAME } from './http-shape.ts';
import { POLICY_FIELD, ROOT_FIELDS } from './read-tables.ts';

/** The JSON Schema of a file of tables. */
export const TABLES_SCHEMA: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Tables of Sluice',
  description: 'Which limits apply to the requests that proxies ask about.',
  type: 'object',
  minProperties: 1,
  properties: {
    http: {
      ...ROOT_FIELDS.http.schema,
      type: 'object',
      propertyNames: { pattern: TABLE_NAME.source },
      additionalProperties: {
        type: 'object',
        properties: {
          ...schemasOf(HTTP_TABLE_FIELDS),
          limits: { ...HTTP_TABLE_FIELDS.limits.schema, items: ruleSchema(schemasOf(HTTP_RULE_FIELDS), ['limit']) },
        },
        required: ['limits'],
        additionalProperties: false,
      },
    },
    envoy: {
      ...ROOT_FIELDS.envoy.schema,
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: {
          ...schemasOf(ENVOY_TABLE_FIELDS),
          rules: {
            ...ENVOY_TABLE_FIELDS.rules.schema,
            items: {
              ...ruleSchema(schemasOf(ENVOY_RULE_FIELDS), ['descriptor']),
              anyOf: [{ required: ['limit'] }, { required: ['unlimited'] }, { required: ['blocked'] }],
            },
          },
        },
        required: ['rules'],
        additionalProperties: false,
      },
    },
    onFailure: { ...ROOT_FIELDS.onFailure.schema, type: 'object', additionalProperties: POLICY_FIELD.schema },
  },
  additionalProperties: false,
};

function ruleSchema(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}
