import { recordedSuite } from './recorded-suite.ts';

recordedSuite(100_000);
