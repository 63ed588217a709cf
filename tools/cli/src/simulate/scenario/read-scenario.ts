import { SluiceError } from '@sluice/core';
import { MODELS } from '../algorithms/models.ts';
import { readClients } from './clients-part.ts';
import { readLimitsPart } from './limits-part.ts';
import { parsed, positionIn } from './parse.ts';
import type { Scenario } from './scenario.ts';
import { ScenarioError, type Value } from './value.ts';

const FIELDS = ['title', 'description', 'limits', 'clients', 'within', 'compare'];

/**
 * Reads a scenario.
 *
 * @param label - The name of the file, for messages and as the title of a scenario without one.
 * @throws {SluiceError} `ERR_LIMIT_FILES` with the mistakes of its limits, or with its first mistake elsewhere, each with
 * file, line and column.
 */
export async function readScenario(text: string, label: string): Promise<Scenario> {
  // As editors do, a byte order mark is not counted as a column.
  const body = text.replace(/^\uFEFF/, '');
  try {
    return await readParts(body, label);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw scenarioError([`${positionIn(body, error.offset)}: ${error.message}`], label);
  }
}

async function readParts(text: string, label: string): Promise<Scenario> {
  const root = parsed(text);
  const fields = root.fields(FIELDS);
  const [limitsValue, clients] = [fields.get('limits'), fields.get('clients')];
  if (limitsValue === undefined || clients === undefined) throw root.wrong('a mapping with `limits` and `clients`');
  const part = await readLimitsPart(text, limitsValue);
  if ('mistakes' in part) throw scenarioError(part.mistakes, label);
  return {
    title: fields.get('title')?.text() ?? label,
    description: fields.get('description')?.text(2000) ?? '',
    limits: part.limits,
    clients: readClients(clients, Object.keys(part.limits)),
    withinMicros: withinOf(fields.get('within')),
    compare: fields.get('compare')?.items().map(modelOf) ?? [],
  };
}

function withinOf(value: Value | undefined): number | undefined {
  const micros = value?.micros();
  if (micros === 0) throw value!.wrong('above 0s', 'For example within: 1s.');
  return micros;
}

function modelOf(value: Value): string {
  const name = value.text();
  if (MODELS.has(name)) return name;
  throw value.wrong(`one of ${[...MODELS.keys()].join(', ')}`);
}

function scenarioError(mistakes: readonly string[], label: string): SluiceError {
  const number = mistakes.length === 1 ? 'is 1 problem' : `are ${mistakes.length} problems`;
  const lines = mistakes.map((mistake) => `${label}:${mistake}`);
  return new SluiceError('ERR_LIMIT_FILES', `There ${number} with the scenario:\n${lines.join('\n')}`);
}
