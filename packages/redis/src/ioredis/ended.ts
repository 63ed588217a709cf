import type { ClusterConnection, Connection } from './connection.ts';

/** Closes a connection in any state, and waits until its socket is closed. */
export async function ended(connection: Connection): Promise<void> {
  connection.disconnect();
  const { stream } = connection;
  if (stream === undefined || stream.closed) return;
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.destroy();
  await closed;
}

/** Closes the connections to all nodes of a cluster. */
export async function endedCluster(cluster: ClusterConnection): Promise<void> {
  const nodes = cluster.nodes('all');
  cluster.disconnect();
  await Promise.all(nodes.map(ended));
}
