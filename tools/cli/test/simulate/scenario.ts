/** A scenario of one client, whose arrivals are given as YAML in one line. */
export function scenarioOf(arrivals: string, more = '', limit = '{ burst: 5, count: 10, period: 1s }'): string {
  return `limits:\n  Requests: ${limit}\nclients:\n  app: { arrivals: ${arrivals} }\n${more}`;
}
