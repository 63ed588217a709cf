import { onSteeredStores } from '../on-steered-stores.ts';
import { settlingCases } from './cases.ts';

onSteeredStores('decisions are settled', settlingCases);
