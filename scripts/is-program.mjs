import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Whether a module is the program that was started, and not imported by another. Node resolves the symbolic links in the
 * URL of a module and leaves those in `process.argv`: a program in a linked folder would otherwise do nothing, silently.
 *
 * @param {string} url `import.meta.url`
 */
export function isProgram(url) {
  const [, started] = process.argv;
  return started !== undefined && existsSync(started) && realpathSync(started) === fileURLToPath(url);
}
