import { recordedSuite } from './recorded-suite.ts';
import { sized } from '../../../../test/sized.ts';

recordedSuite(sized(8000, 100_000));
