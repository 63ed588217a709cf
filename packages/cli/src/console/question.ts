import type { Terminal } from './terminal.ts';

/** The longest answer that is read. */
const MAX_LENGTH = 1000;

/** Asks a question on stderr and returns the line that is typed, without spaces around it; `''` if stdin ends. */
export async function answerTo(question: string, terminal: Terminal): Promise<string> {
  terminal.write('stderr', question);
  let typed = '';
  for await (const chunk of terminal.stdin) {
    typed += String(chunk);
    if (typed.includes('\n') || typed.length > MAX_LENGTH) break;
  }
  const [line = ''] = typed.split('\n');
  return line.trim();
}
