import { recordedSuite } from './recorded-suite.ts';
import { sized } from '../../../../test/sized.ts';

recordedSuite(sized(20_000, 100_000));
