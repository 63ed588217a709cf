/** A phrase of which each character is a byte. */
const PHRASE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/;

/**
 * Returns a copy of a response with a body. `fetch` takes what servers send, and the constructor of a response does not take all
 * of it: a status such as 999 counts as 500 for servers that read no property (RFC 9110 section 15), and a phrase in UTF-8 is
 * left out.
 */
export function copiedResponse(response: Response, body: ReadableStream<Uint8Array> | null): Response {
  const { status, statusText, headers } = response;
  if (status <= 599 && PHRASE.test(statusText)) return new Response(body, response);
  const made = new Response(body, { status: status > 599 ? 500 : status, headers });
  return Object.defineProperties(made, { status: { value: status }, statusText: { value: statusText } });
}
