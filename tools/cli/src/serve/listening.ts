import type { ListenAddress, ServerAddresses, Servers } from '@sluice/serve';

const NAMES = ['http', 'grpc', 'metrics'] as const;

/** Returns where servers listen, by their names in messages: the port that was chosen in place of port 0. */
export function listeningAt(
  addresses: ServerAddresses,
  ports: Partial<Servers['ports']>,
): readonly (readonly [name: string, address: string])[] {
  return NAMES.flatMap((name) => {
    const address = addresses[name];
    if (address === undefined) return [];
    return [[name, textOf(address, ports[name])] as const];
  });
}

function textOf(address: ListenAddress, port: number | undefined): string {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${port ?? address.port}`;
}
