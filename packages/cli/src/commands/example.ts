/** Returns an example of a command for one bucket. It reads its limits from stdin, so that it works in any folder. */
export function bucketExample(command: string): string {
  return [
    `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' |`,
    `  sluice ${command} --redis redis://127.0.0.1:6379 - Orders 12345678`,
  ].join('\n');
}
