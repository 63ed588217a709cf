import type { FailureOptions, FailurePolicy } from '@sluice/core';
import { listenAddress, type ListenAddress, type OperatorSettings, type ServerAddresses } from '@sluice/serve';
import { availableParallelism } from 'node:os';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { TOKEN_VARIABLE } from '../limits/served-at.ts';

const POLICIES: readonly string[] = ['local', 'open', 'closed'] satisfies readonly FailurePolicy[];

/** How many processes decide, and how long they take to end. */
export interface ServeSettings {
  readonly addresses: ServerAddresses;
  readonly processes: number;
  readonly drainMs: number;
  readonly failure: FailureOptions & { readonly gateways: number };
  readonly hasRedis: boolean;
  readonly leases: boolean;
  /** Undefined if operators are not answered. */
  readonly operator: Pick<OperatorSettings, 'token'> | undefined;
}

/**
 * Returns the settings of a call.
 *
 * @throws {UsageError} If an option is wrong, or if several processes would have no common store.
 */
export function serveSettings(call: Call): ServeSettings {
  const hasRedis =
    call.text('redis') !== undefined ||
    call.text('master') !== undefined ||
    call.console.terminal.env['SLUICE_REDIS_URL'] !== undefined;
  const processes = processesOf(call);
  if (processes > 1 && !hasRedis) {
    throw new UsageError(
      '`--processes` needs `--redis`: without it, each process would allow the whole of every limit. For example --processes 4 --redis redis://127.0.0.1:6379.',
    );
  }
  const leases = call.has('leases');
  if (leases && !hasRedis) throw new UsageError('`--leases` needs `--redis`, from which the tokens are leased.');
  const addresses = addressesOf(call);
  return {
    addresses,
    processes,
    drainMs: call.milliseconds('drain', { min: 0, max: 600_000, unset: 10_000 }),
    failure: {
      deadlineMs: call.milliseconds('deadline', { min: 1, max: 60_000, unset: 50 }),
      onFailure: policyOf(call),
      gateways: call.wholeNumber('gateways', { min: 1, max: 10_000, unset: processes }),
    },
    hasRedis,
    leases,
    operator: operatorOf(call, addresses),
  };
}

function operatorOf(call: Call, { metrics }: ServerAddresses): ServeSettings['operator'] {
  if (!call.has('operate')) return undefined;
  if (metrics === undefined) {
    throw new UsageError(
      '`--operate` needs `--metrics`, at whose address operators ask. For example --metrics unix:/run/sluice/metrics.sock.',
    );
  }
  const token = call.console.terminal.env[TOKEN_VARIABLE];
  if (token === undefined && 'path' in metrics) return {};
  if (token === undefined || !/^[!-~]{32,512}$/.test(token)) {
    throw new UsageError(
      `\`--operate\` needs a token of 32 to 512 visible characters in the environment variable ${TOKEN_VARIABLE}, for example the output of openssl rand -hex 32. Without one, give --metrics a unix socket.`,
    );
  }
  return { token };
}

function processesOf(call: Call): number {
  if (call.text('processes') === 'all') return availableParallelism();
  return call.wholeNumber('processes', { min: 1, max: 256, unset: 1 });
}

function addressesOf(call: Call): ServerAddresses {
  const [http, grpc, metrics] = (['http', 'grpc', 'metrics'] as const).map((name) => addressOf(call, name));
  if (http === undefined && grpc === undefined) {
    throw new UsageError(
      'At least one of `--http` and `--grpc` must be given. For example --http 127.0.0.1:9090 for nginx, or --grpc 127.0.0.1:9091 for Envoy.',
    );
  }
  return { http, grpc, metrics };
}

function addressOf(call: Call, name: string): ListenAddress | undefined {
  const text = call.text(name);
  return text === undefined ? undefined : listenAddress(`--${name}`, text);
}

function policyOf(call: Call): FailurePolicy {
  const text = call.text('onFailure') ?? 'local';
  if (POLICIES.includes(text)) return text as FailurePolicy;
  throw new UsageError(
    `\`--on-failure\` must be one of ${POLICIES.join(', ')}, but was '${text}'. For example --on-failure local.`,
  );
}
