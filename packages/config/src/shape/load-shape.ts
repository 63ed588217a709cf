import type { LoadOptions } from '@sluice/core';
import { LOAD_HINTS, loadSettings, type Hints } from '@sluice/core/kit';
import type { Node } from '../nodes/node.ts';
import { LIMIT_FIELDS, LOAD_FIELDS } from './definition.ts';
import type { Fields } from './fields.ts';

const NAMES = Object.keys(LOAD_FIELDS);
const HINTS: Hints = {
  ...LOAD_HINTS,
  enabled: '`enabled` is a function, so it is given in code. In a file, switch the limit off by disabled: true.',
};

/** Validates `load` of a limit, and returns its options. Returns `undefined` if it is missing or wrong. */
export function loadOf(fields: Fields): LoadOptions | undefined {
  const node = fields.value('load', LIMIT_FIELDS['load']!) as Node | undefined;
  if (node?.kind !== 'mapping') return node && {};
  return optionsOf(fields.within(`${fields.where}.load`, node, NAMES, HINTS));
}

function optionsOf(fields: Fields): LoadOptions | undefined {
  const { ok, values } = fields.values(LOAD_FIELDS);
  // Without a wrong value, its default would be compared with the others.
  return ok && fields.checked(() => loadSettings(fields.where, values)) ? values : undefined;
}
