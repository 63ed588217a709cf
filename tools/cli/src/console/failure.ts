import type { SluiceError } from '@sluice/core';
import { EXIT } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/** Something that a command could not do. The message ends with what to do. */
export class CommandError extends Error {}

/** Wrong use of a command: its help describes the right one. */
export class UsageError extends CommandError {}

/**
 * Writes why a command failed.
 *
 * @param command - The name of the command.
 * @returns The exit code.
 */
export function reported(error: unknown, terminal: Terminal, command: string): number {
  if (isSluiceError(error) && error.code === 'ERR_LIMIT_FILES') {
    terminal.write('stderr', `${withFlags(error.message)}\n`);
    return EXIT.findings;
  }
  terminal.write('stderr', `error: ${textOf(error)}\n`);
  if (error instanceof UsageError) terminal.write('stderr', `Help: sluice ${command} --help\n`);
  return EXIT.failed;
}

function textOf(error: unknown): string {
  if (isSluiceError(error)) return `${withFlags(error.message)} (${error.code})${hintOf(error)}`;
  if (error instanceof CommandError) return error.message;
  // An error that nobody expected: its stack helps to find the mistake.
  return error instanceof Error ? String(error.stack) : String(error);
}

/** Node's codes of a certificate of an unknown authority. */
const UNTRUSTED = /SELF_SIGNED_CERT|ISSUER_CERT|LEAF_SIGNATURE/;

function hintOf({ code, cause }: SluiceError): string {
  const isUntrusted =
    code === 'ERR_STORE_UNAVAILABLE' && UNTRUSTED.test(String((cause as { code?: unknown } | undefined)?.code));
  return isUntrusted ? '. To trust your own authority, add --tls-ca ca.pem.' : '';
}

/** Names the flags of the command line instead of the options of the library. */
export function withFlags(message: string): string {
  return message
    .replace('`timeoutMs`', '`--timeout`')
    .replace('`block.forMs`', '`--for`')
    .replace(/`socket` must be (.*) socket: '(.*)'/, '`--store host:` must be followed by $1 --store host:$2')
    .replace(/the address of the pool is right: .* localhost/, 'its address in `--store` is right')
    .replace(/, and that other users of the pool .* own/, ' and takes connections')
    .replace(
      /Call store\.migrate.* `migrate: false`/,
      'Correct `--store` or `--table`, or let a server of this version create it',
    )
    .replace(/The documentation of @sluice\/\w+ lists/, 'sluice doctor lists')
    .replaceAll('or raise maxBytes', 'or raise --max-bytes')
    .replace(/Pass a `Cluster` of ioredis .* as `client`\./, 'Add --cluster.')
    .replace(/`trustedProxies(?:\[\d+\])?`/g, '`--trust`')
    .replace(/trustedProxies: \[.*?\]/, '--trust loopback --trust 10.0.0.0/8');
}

/** By its name, because the program starts without loading the core. */
function isSluiceError(error: unknown): error is SluiceError {
  return error instanceof Error && error.name === 'SluiceError';
}
