import { isPlainObject } from '@sluice/core/kit';

/** Parameters that name a prompt, or a part of it, which the provider keeps. */
const NAMES = [
  'previous_response_id',
  'previousResponseId',
  'conversation',
  'thread_id',
  'assistant_id',
  'cachedContent',
] as const;

/** The name of what a call has of its provider's state: earlier turns, a thread, a stored prompt, a cached one. */
export function providerState(params: Readonly<Record<string, unknown>>): string | undefined {
  const named = NAMES.find((name) => params[name] !== undefined && params[name] !== null && params[name] !== '');
  if (named !== undefined) return named;
  const { prompt, input } = params;
  if (isPlainObject(prompt) && typeof prompt['id'] === 'string') return 'prompt.id';
  return Array.isArray(input) && input.some(isReference) ? 'input' : undefined;
}

/** Whether an item of the input is the identifier of one that the provider keeps. */
function isReference(item: unknown): boolean {
  if (!isPlainObject(item)) return false;
  const { type, role, id } = item;
  return type === 'item_reference' || (typeof id === 'string' && (type ?? role ?? undefined) === undefined);
}
