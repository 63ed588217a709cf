import { recordedSuite } from './recorded-suite.ts';
import { sized } from '../../../../test/sized.ts';

recordedSuite(sized(4000, 20_000));
