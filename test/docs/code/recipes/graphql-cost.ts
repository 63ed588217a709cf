import { accountId, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler } from 'express';
import { Kind, parse, type DocumentNode, type SelectionNode, type SelectionSetNode } from 'graphql';

interface AuthenticatedRequest extends Request {
  account?: string; // set by your authentication
}

/** Fields that give lists, with the most entries that your schema lets a client ask for. */
const LIST_SIZES = new Map([
  ['orders', 20],
  ['items', 10],
]);

const limiter = createLimiter({
  limits: {
    FieldsPerAccount: {
      key: accountId((req: AuthenticatedRequest) => req.account ?? null),
      count: 5000,
      period: '1m',
    },
  },
});

/** `app.post('/graphql', authenticate, express.json(), limitFields, graphqlHandler)` */
export const limitFields: RequestHandler = rateLimit({
  limiter,
  limits: [{ limit: 'FieldsPerAccount', cost: costOf }],
});

/** One for each field that the answer may have: the fields of a list count once for each entry. */
function costOf({ body }: Request): number {
  const costs = [body].flat().map((operation) => costOfText(String(operation?.query)));
  return Math.min(
    costs.reduce((sum, cost) => sum + cost, 0),
    Number.MAX_SAFE_INTEGER,
  );
}

function costOfText(query: string): number {
  try {
    return costOfDocument(parse(query, { maxTokens: 2000, noLocation: true }));
  } catch {
    return 1; // Not a query: the handler answers with the reason.
  }
}

function costOfDocument({ definitions }: DocumentNode): number {
  const fragments = new Map(
    definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node.selectionSet]] : [],
    ),
  );
  const known = new Map<string, number>();
  const costOfSet = (set?: SelectionSetNode): number =>
    (set?.selections ?? []).reduce((sum, node) => sum + costOfNode(node), 0);
  const costOfNode = (node: SelectionNode): number => {
    if (node.kind === Kind.FRAGMENT_SPREAD) return costOfFragment(node.name.value);
    if (node.kind === Kind.INLINE_FRAGMENT) return costOfSet(node.selectionSet);
    return (LIST_SIZES.get(node.name.value) ?? 1) * (1 + costOfSet(node.selectionSet));
  };
  const costOfFragment = (name: string): number => {
    if (!known.has(name)) {
      known.set(name, 0); // A fragment within itself ends here. Validation refuses it.
      known.set(name, costOfSet(fragments.get(name)));
    }
    return known.get(name) ?? 0;
  };
  const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return operations.reduce((sum, { selectionSet }) => sum + costOfSet(selectionSet), 0);
}
