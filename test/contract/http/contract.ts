import { beforeEach, describe } from 'vitest';
import { badInputCases } from './cases/bad-input.ts';
import { begunResponseCases } from './cases/begun-responses.ts';
import { blockedCases } from './cases/blocked.ts';
import { borrowingCases } from './cases/borrowing.ts';
import { callbackCases } from './cases/callbacks.ts';
import { clientCases } from './cases/clients.ts';
import { fieldSizeCases } from './cases/field-size.ts';
import { combinedFieldCases } from './cases/combined-fields.ts';
import { connectionCases } from './cases/connections.ts';
import { crossOriginCases } from './cases/cross-origin.ts';
import { deadlineCases } from './cases/deadlines.ts';
import { departedClientCases } from './cases/departed-clients.ts';
import { droppedFieldCases } from './cases/dropped-fields.ts';
import { errorCases, otherErrorCases } from './cases/errors.ts';
import { fieldDialectCases } from './cases/field-dialects.ts';
import { fieldCases } from './cases/fields.ts';
import { handlerErrorCases } from './cases/handler-errors.ts';
import { handlerCases } from './cases/handlers.ts';
import { hiddenCases } from './cases/hidden.ts';
import { limitCases } from './cases/limits.ts';
import { loadCases } from './cases/loads.ts';
import { mockExchangeCases } from './cases/mock-exchanges.ts';
import { obeyedFieldCases } from './cases/obeyed-fields.ts';
import { optionCases } from './cases/options.ts';
import { overrideCases } from './cases/overrides.ts';
import { denialCases } from './cases/denials.ts';
import { settleAbortedCases } from './cases/settle-aborted.ts';
import { settleCases } from './cases/settle.ts';
import { limitsStatusCases } from './cases/limits-status.ts';
import { quotaCases } from './cases/quotas.ts';
import { shareCases } from './cases/shares.ts';
import { slotConnectionCases } from './cases/slot-connections.ts';
import { slotEndCases } from './cases/slot-ends.ts';
import { slotFieldCases } from './cases/slot-fields.ts';
import { slotHandlerCases } from './cases/slot-handlers.ts';
import { slotStreamCases } from './cases/slot-streams.ts';
import { slotCases } from './cases/slots.ts';
import { streamCases } from './cases/streams.ts';
import { allThrownValueCases, thrownValueCases } from './cases/thrown-values.ts';
import { waitingCases } from './cases/waiting.ts';
import type { Framework } from './framework.ts';

/** What an adapter decides: the fields, the ends and the errors of requests, and the response of `limitsStatus`. */
const EXCHANGE_CASES = {
  fields: fieldCases,
  'combined fields': combinedFieldCases,
  'size of the fields': fieldSizeCases,
  denials: denialCases,
  'responses that have begun': begunResponseCases,
  handlers: handlerCases,
  'errors of handlers': handlerErrorCases,
  settle: settleCases,
  'settle of aborted responses': settleAbortedCases,
  'cross-origin': crossOriginCases,
  errors: errorCases,
  'thrown values': thrownValueCases,
  waiting: waitingCases,
  deadlines: deadlineCases,
  'ends of slots': slotEndCases,
  'status of limits': limitsStatusCases,
  'handlers with slots': slotHandlerCases,
};

/** What core decides in the same way for all exchanges. */
const CORE_CASES = {
  limits: limitCases,
  'dialects of fields': fieldDialectCases,
  overrides: overrideCases,
  blocked: blockedCases,
  hidden: hiddenCases,
  callbacks: callbackCases,
  quotas: quotaCases,
  shares: shareCases,
  borrowing: borrowingCases,
  'bad input': badInputCases,
  slots: slotCases,
  loads: loadCases,
  'fields of slots': slotFieldCases,
};

/** What `npm run trial -- mutants-adapters` does not need to find a mistake: asked of two adapters, and of all in `npm run test:all`. */
const MORE_CASES = {
  'fields that are obeyed': obeyedFieldCases,
  'errors of other functions': otherErrorCases,
  'all thrown values': allThrownValueCases,
};

/** What goes by the protocol, or by none. */
const OTHER_CASES = {
  'HTTP/1.1': {
    clients: clientCases,
    connections: connectionCases,
    'connections with slots': slotConnectionCases,
    departed: departedClientCases,
    'dropped fields': droppedFieldCases,
    'mock exchanges': mockExchangeCases,
    options: optionCases,
  },
  'HTTP/2': { streams: streamCases, 'streams with slots': slotStreamCases },
};

/** What every adapter promises, on its framework over real sockets. */
export function httpContract(framework: Framework): void {
  describeTopics(framework, { ...EXCHANGE_CASES, ...MORE_CASES, ...CORE_CASES, ...OTHER_CASES[framework.protocol] });
}

/** The part of the contract that an exchange decides. `npm run trial -- mutants-adapters` shows that it finds what may be wrong with one. */
export function exchangeContract(framework: Framework): void {
  const more = process.env['SLUICE_ALL_CASES'] === 'yes' ? MORE_CASES : {};
  describeTopics(framework, { ...EXCHANGE_CASES, ...more, ...OTHER_CASES[framework.protocol] });
}

function describeTopics(framework: Framework, topics: Readonly<Record<string, (framework: Framework) => void>>): void {
  const { name, protocol, skips = {} } = framework;
  for (const [topic, cases] of Object.entries(topics)) {
    describe(`${name} over ${protocol}: ${topic}`, () => {
      beforeEach(({ task, skip }) => {
        const reason = skips[topic] ?? skips[task.name];
        if (reason !== undefined) skip(reason);
      });
      cases(framework);
    });
  }
}
