using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [
  (name = "driver", worker = .driver),
  (name = "limited", worker = .limited),
  (name = "service", worker = .service),
]);

const driver :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "drop-in-driver.mjs")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "limited", service = "limited")],
);

const limited :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "drop-in-bundle.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
  globalOutbound = "service",
);

const service :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "service.mjs")],
  compatibilityDate = "2026-01-01",
);
