/**
 * Validation for packages that read limits from other sources or add id formats, so that each rule about a limit is
 * implemented once.
 *
 * @module
 */
export { limitsOf } from '../limiter/create-limiter.ts';
export { DURATION_PATTERN } from '../rule/duration.ts';
export {
  complaint,
  isInstance,
  listed,
  messageOf,
  reasonOf,
  shown,
  shownName,
  shownText,
  type Complaint,
} from '../checks/errors.ts';
export { isIdFormat, isKey, keyOf } from '../keys/key.ts';
export { checkLimitName, LIMIT_NAME_PATTERN, type Limit } from './limit.ts';
export { checkBoolean, checkOptions, leafOf, wholeNumber, type Hints } from '../checks/options.ts';
export { LIMIT_HINTS } from '../checks/peer-names.ts';
export { checkedPeriodTicks, checkedTokens, MAX_TOKENS, rateOf, type Rate } from '../rule/rate.ts';
