export { FakeTime } from './fake-time.ts';
export { callsOf, type StoreCalls } from './store-calls.ts';
export type { SteeredStoreUnderTest, StoreUnderTest } from './store-case.ts';
export {
  storeContract,
  type ContractCase,
  type RealStoreContractOptions,
  type SteeredStoreContractOptions,
  type StoreContractOptions,
} from './store-contract.ts';
