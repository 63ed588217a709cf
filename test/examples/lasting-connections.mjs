// Loaded before an example: connections without a request never end by their age, as they do after five seconds, so that a
// test sees which side ended them.
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

const { createServer } = http;
http.createServer = new Proxy(createServer, {
  apply(create, self, args) {
    /** @type {http.Server} */
    const server = Reflect.apply(create, self, args);
    server.keepAliveTimeout = 0;
    return server;
  },
});
syncBuiltinESMExports();
