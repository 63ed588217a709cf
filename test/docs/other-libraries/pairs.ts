import type { RequestListener } from 'node:http';
import request from 'supertest';

/** What another library answers, and what Sluice answers to the same. */
export type Pair = readonly [there: unknown, here: unknown];

/** What runs a row of the page, by the text of its first cell; or why it is not run here. */
export type Rows = Readonly<Record<string, (() => Promise<Pair>) | string>>;

/** A request: its path, and its header fields. */
export interface Ask {
  readonly path?: string;
  readonly [field: string]: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  get(field: string): string | undefined;
}

/** What is compared of an answer. */
export type Seen = (answer: Answer) => unknown;

export type Send = (path: string, fields: Readonly<Record<string, string>>) => Promise<Answer>;

export const status: Seen = (answer) => answer.status;
export const body: Seen = (answer) => JSON.parse(answer.text) as unknown;
/** The status of an allowed request, and with it the body of a denial. */
export const denial: Seen = ({ status: code, text }) => (code === 200 ? code : [code, text]);
export const fieldsOf =
  (...names: readonly string[]): Seen =>
  (answer) =>
    names.map((name) => answer.get(name)?.toString());

/** So many requests that do not differ. */
export const times = (count: number, ask: Ask = {}): readonly Ask[] => Array.from({ length: count }, () => ask);
/** Requests of clients with these addresses. */
export const from = (...addresses: readonly string[]): readonly Ask[] => header('x-forwarded-for', ...addresses);
export const header = (name: string, ...values: readonly string[]): readonly Ask[] =>
  values.map((value) => ({ [name]: value }));

export async function pair(there: () => unknown, here: () => unknown): Promise<Pair> {
  return [await there(), await here()];
}

/** One pair of several. */
export async function all(...pairs: readonly Promise<Pair>[]): Promise<Pair> {
  const run = await Promise.all(pairs);
  return [run.map(([there]) => there), run.map(([, here]) => here)];
}

/** What is seen of the answers, one request after the other. */
export async function answers(send: Send, asks: readonly Ask[], seen: Seen = status): Promise<readonly unknown[]> {
  const answered: unknown[] = [];
  for (const { path = '/', ...fields } of asks) {
    // oxlint-disable-next-line no-await-in-loop -- one request after the other
    answered.push(seen(await send(path, fields as Record<string, string>)));
  }
  return answered;
}

export const over =
  (listener: RequestListener): Send =>
  (path, fields) =>
    request(listener).get(path).set(fields);
