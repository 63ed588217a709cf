import { shown } from '@sluice/core/kit';

/** The newest version of the protocol, which a process says first. It is in the first message of both ends of a connection. */
export const PROTOCOL_VERSION = 5;

/**
 * The version before, which every process speaks too, so that two versions of this package share a socket while one replaces the
 * other. A server answers a client in the version that the client has said.
 */
export const OLDEST_VERSION = 4;

/** Clients ask for the holders of slots from this version on. */
export const HOLDERS_VERSION = 5;

/** The bytes of the first message. Those before the version, and the version, are the same in all versions. */
export const HELLO_BYTES = 32;

const MAGIC = 'sluice\r\n';
const ID_BYTES = 6;
/** The turns of buckets are counted modulo this. */
export const TURNS = 65_536;

/** The first message of each end of a connection. */
export interface Hello {
  /** The version of the protocol in which its sender speaks. */
  readonly version: number;
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

export function encodeHello({ version, pid, hostMicros, id, turn }: Hello): Buffer {
  const bytes = Buffer.alloc(HELLO_BYTES);
  bytes.write(MAGIC, 'latin1');
  bytes.writeUInt32LE(version, 8);
  bytes.writeUInt32LE(pid, 12);
  bytes.writeDoubleLE(hostMicros, 16);
  bytes.write(id, 24, 'hex');
  bytes.writeUInt16LE(turn, 24 + ID_BYTES);
  return bytes;
}

/** A peer that speaks neither of the versions of this process. The message follows "it". */
export class OtherVersionError extends Error {
  /** Whether it has a later version. It then may speak one of this process: it learns them from the hello. */
  readonly isLater: boolean;

  constructor(version: number) {
    super(
      `has version ${version} of the protocol, and this process versions ${OLDEST_VERSION} and ${PROTOCOL_VERSION}. Update by one ` +
        'version of @sluice/host after the other, or give other processes another socket',
    );
    this.isLater = version > PROTOCOL_VERSION;
  }
}

/** @throws {Error} If it is not the message of a host store, or of a version that this process does not speak. The message follows "it". */
export function decodeHello(bytes: Buffer): Hello {
  const magic = bytes.toString('latin1', 0, MAGIC.length);
  if (magic !== MAGIC) throw new Error(`sent ${shown(magic)}, so it is not a host store`);
  const version = bytes.readUInt32LE(8);
  if (version < OLDEST_VERSION || version > PROTOCOL_VERSION) throw new OtherVersionError(version);
  return {
    version,
    pid: bytes.readUInt32LE(12),
    hostMicros: bytes.readDoubleLE(16),
    id: bytes.toString('hex', 24, 24 + ID_BYTES),
    turn: bytes.readUInt16LE(24 + ID_BYTES),
  };
}
