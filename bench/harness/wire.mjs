import { Socket } from 'node:net';

/** The connections that this process has opened since this file was loaded. @type {Socket[]} */
const sockets = [];
const connect = Reflect.get(Socket.prototype, 'connect');
Reflect.set(Socket.prototype, 'connect', connectCounted);

/**
 * @this {Socket}
 * @param {any} args
 */
function connectCounted(...args) {
  sockets.push(this);
  return Reflect.apply(connect, this, args);
}

/** How many bytes this process has sent and received over the connections that it opened. */
export function wireBytes() {
  return sockets.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
}
