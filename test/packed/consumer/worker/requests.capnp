using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [
  (name = "driver", worker = .driver),
  (name = "limited", worker = .limited),
  (name = "service", worker = .service),
]);

const driver :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "driver.mjs")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "limited", service = "limited"), (name = "service", service = "service")],
);

const limited :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "requests-bundle.mjs")],
  compatibilityDate = "2026-01-01",
  globalOutbound = "service",
);

const service :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "service.mjs")],
  compatibilityDate = "2026-01-01",
);
