// The grammar of Node's `net.isIPv4` and `net.isIPv6`, as in node/lib/internal/net.js, so that every runtime takes the
// same texts for addresses. A property test compares both.
const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]\\d|\\d)';
const dotted = `${octet}(?:\\.${octet}){3}`;
const group = '[\\da-fA-F]{1,4}';

const IPV4 = new RegExp(`^${dotted}$`);
const IPV6 = new RegExp(
  '^(?:' +
    [
      `(?:${group}:){7}(?:${group}|:)`,
      `(?:${group}:){6}(?:${dotted}|:${group}|:)`,
      `(?:${group}:){5}(?::${dotted}|(?::${group}){1,2}|:)`,
      `(?:${group}:){4}(?:(?::${group}){0,1}:${dotted}|(?::${group}){1,3}|:)`,
      `(?:${group}:){3}(?:(?::${group}){0,2}:${dotted}|(?::${group}){1,4}|:)`,
      `(?:${group}:){2}(?:(?::${group}){0,3}:${dotted}|(?::${group}){1,5}|:)`,
      `(?:${group}:){1}(?:(?::${group}){0,4}:${dotted}|(?::${group}){1,6}|:)`,
      `(?::(?:(?::${group}){0,5}:${dotted}|(?::${group}){1,7}|:))`,
    ].join('|') +
    ')$',
);

/** Whether a text is an IPv4 address: four decimal numbers without leading zeros. */
export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

/** Whether a text is an IPv6 address without a zone (RFC 4291 section 2.2). */
export function isIPv6(text: string): boolean {
  return IPV6.test(text);
}
