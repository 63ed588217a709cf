// Loaded before an example: connections without a request never end by their age, as they do after five seconds, so that a
// test sees who ended them.
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

const { createServer } = http;
http.createServer = (...args) => Object.assign(createServer(...args), { keepAliveTimeout: 0 });
syncBuiltinESMExports();
