using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [
  (name = "driver", worker = .driver),
  (name = "scheduled", worker = .scheduled),
  (name = "service", worker = .service),
]);

const driver :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "scheduled-driver.mjs")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "scheduled", service = "scheduled")],
);

const scheduled :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "scheduled-bundle.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["enable_request_signal"],
  durableObjectNamespaces = [(className = "Calls", uniqueKey = "calls")],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "service", service = "service"),
    (name = "CALLS", durableObjectNamespace = "Calls"),
  ],
);

const service :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "service.mjs")],
  compatibilityDate = "2026-01-01",
);
