/** What an error of a server concerns, and what to do about it. */
interface ServerWord {
  /** The whole server, or one call only. */
  readonly concerns: 'server' | 'call';
  /** Whether only nodes of a cluster say it, which a client for a single server can't handle. */
  readonly isOfCluster?: true;
  /** The meaning and the remedy, in sentences. */
  readonly remedy: string;
}

/**
 * All words by which the errors of servers begin that this package reads. Those in `SERVER_TEXTS` have words of this
 * package. A test makes a real server say each.
 */
export const SERVER_WORDS: Readonly<Record<string, ServerWord>> = {
  OOM: ofServer(
    'It has reached its `maxmemory` and evicts nothing. Give it more memory, or set `maxmemory-policy volatile-ttl`.',
  ),
  READONLY: ofServer(
    'It is a replica, so the connection is made again. If that does not help, connect to the primary, or through Sentinel.',
  ),
  LOADING: ofServer('It is still loading its data from disk, and will answer when that is done.'),
  MASTERDOWN: ofServer('It is a replica that has lost its primary. Connect to the primary, or through Sentinel.'),
  CLUSTERDOWN: ofServer('The cluster does not cover all slots. A primary is down and not replaced yet.'),
  NOPERM: ofServer('The Redis user lacks a permission. The documentation of @sluice/redis lists those that it needs.'),
  NOAUTH: ofServer('It requires a password. Put it into the client or the URL.'),
  WRONGPASS: ofServer('The user or the password is wrong. Correct them in the client or the URL.'),
  MISCONF: ofServer("It can't save to disk and therefore rejects writes. Check its log."),
  NOREPLICAS: ofServer('It has fewer replicas than `min-replicas-to-write` demands.'),
  BUSY: ofServer('Another script runs too long on it. `SCRIPT KILL` ends that script.'),
  'script ended': ofServer(
    'Somebody has ended the script by `SCRIPT KILL`. Look for what keeps the server busy (`SLOWLOG GET`).',
  ),
  'no command': ofServer(
    'It lacks a command, or an operator has renamed it. The documentation of @sluice/redis lists those that it needs.',
  ),
  'no database': ofServer('It does not have this database. Choose another one in the client or the URL.'),
  'too many clients': ofServer('It takes no more connections. Raise `maxclients`, or make fewer connections.'),
  MOVED: { ...ofServer('The hash slot has moved to a node that is not connected yet.'), isOfCluster: true },
  ASK: { ...ofServer('The hash slot moves to a node that is not connected yet.'), isOfCluster: true },
  CROSSSLOT: { ...ofCall("Keys of several hash slots can't be sent in one call."), isOfCluster: true },
  TRYAGAIN: {
    ...ofCall('Their hash slot is being moved to another node. This ends when the move is over.'),
    isOfCluster: true,
  },
  WRONGTYPE: ofCall(
    'Another program may write to these keys. Choose a `prefix` that no other program uses, or delete the keys.',
  ),
};

/** A text in an error that begins with `ERR`. */
interface ServerText {
  readonly pattern: RegExp;
  /** The key in `SERVER_WORDS`. */
  readonly word: string;
}

/** What servers say after `ERR` for what has no word of its own. It differs between servers and their versions. */
const SERVER_TEXTS: readonly ServerText[] = [
  // A permission that lacks for a command in a script. Redis 6.2 and 7.0:
  { pattern: /The user executing the script can't/, word: 'NOPERM' },
  // The same of Redis and Redict from 7.2 on, and of Valkey:
  { pattern: /^-?ERR ACL failure in script: /, word: 'NOPERM' },
  // "Unknown Redis command called from script"; Redict and Redis 6.2 have another word in it, and Valkey has none.
  { pattern: /Unknown (?:\w+ )?command called from (?:Lua )?script/, word: 'no command' },
  { pattern: /^-?ERR unknown command/i, word: 'no command' },
  { pattern: /Script killed by user with SCRIPT KILL/, word: 'script ended' },
  { pattern: /^-?ERR (?:DB index is out of range|SELECT is not allowed in cluster mode)/, word: 'no database' },
  { pattern: /^-?ERR max number of clients/, word: 'too many clients' },
];

// Redis 6 puts the error of a command into one of the script: "ERR Error running script (call to f_…): @user_script:3: -OOM …"
const WORD_IN_SCRIPT = /@user_script: ?\d+: -?([A-Z]{2,})\b/;

/** Returns the word of an error that a server has sent: its first one, such as `OOM`, or that of its text after `ERR`. */
export function wordOf(message: string): string {
  const [, word = 'ERR'] = /^-?([A-Z]+)\b/.exec(message) ?? [];
  if (word !== 'ERR') return word;
  return SERVER_TEXTS.find(({ pattern }) => pattern.test(message))?.word ?? WORD_IN_SCRIPT.exec(message)?.[1] ?? 'ERR';
}

function ofServer(remedy: string): ServerWord {
  return { concerns: 'server', remedy };
}

function ofCall(remedy: string): ServerWord {
  return { concerns: 'call', remedy };
}
