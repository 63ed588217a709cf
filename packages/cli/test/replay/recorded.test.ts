import { recordedSuite } from './recorded-suite.ts';

recordedSuite(20_000);
