import { shown } from '@sluice/core/kit';

/** The version of the protocol. It is in the first message of both ends of a connection. */
export const PROTOCOL_VERSION = 5;

/** The bytes of the first message. Those before the version, and the version, are the same in all versions. */
export const HELLO_BYTES = 32;

const MAGIC = 'sluice\r\n';
const ID_BYTES = 6;
/** The turns of buckets are counted modulo this. */
export const TURNS = 65_536;

/** The first message of each end of a connection. */
export interface Hello {
  /** The process that sent it. In a container, by the numbers of that container. */
  readonly pid: number;
  /** The clock that all processes of a host share, in microseconds, when it was sent. */
  readonly hostMicros: number;
  /** Identifies the buckets of a server, as 12 hexadecimal digits; 0 of a client. */
  readonly id: string;
  /** How many processes have handed these buckets over until this one got them, modulo 65,536. */
  readonly turn: number;
}

/** The hello of a client has no buckets. */
export const NO_ID: string = '0'.repeat(2 * ID_BYTES);

export function encodeHello({ pid, hostMicros, id, turn }: Hello, version: number = PROTOCOL_VERSION): Buffer {
  const bytes = Buffer.alloc(HELLO_BYTES);
  bytes.write(MAGIC, 'latin1');
  bytes.writeUInt32LE(version, 8);
  bytes.writeUInt32LE(pid, 12);
  bytes.writeDoubleLE(hostMicros, 16);
  bytes.write(id, 24, 'hex');
  bytes.writeUInt16LE(turn, 24 + ID_BYTES);
  return bytes;
}

/** @throws {Error} If it is not the message of a host store, or has another version. The message follows "it". */
export function decodeHello(bytes: Buffer): Hello {
  const magic = bytes.toString('latin1', 0, MAGIC.length);
  if (magic !== MAGIC) throw new Error(`sent ${shown(magic)}, so it is not a host store`);
  const version = bytes.readUInt32LE(8);
  if (version !== PROTOCOL_VERSION) {
    throw new Error(
      `has version ${version} of the protocol, and this process version ${PROTOCOL_VERSION}. Give all processes on a ` +
        'socket the same version of @sluice/host, or other processes another socket',
    );
  }
  return {
    pid: bytes.readUInt32LE(12),
    hostMicros: bytes.readDoubleLE(16),
    id: bytes.toString('hex', 24, 24 + ID_BYTES),
    turn: bytes.readUInt16LE(24 + ID_BYTES),
  };
}
