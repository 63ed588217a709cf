// Starts a server and waits to be killed.
import { redisServer } from '../servers/redis-server.ts';

const { port, folder } = await redisServer();
process.send?.({ port, folder });
setInterval(() => {}, 60_000);
