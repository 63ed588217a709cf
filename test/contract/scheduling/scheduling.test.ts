import { onSteeredStores } from '../on-steered-stores.ts';
import { schedulingCases } from './cases.ts';

onSteeredStores('calls are scheduled', schedulingCases);
