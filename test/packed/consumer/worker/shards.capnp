using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [
  (name = "driver", worker = .driver),
  (name = "one", worker = .one),
  (name = "other", worker = .other),
  (name = "disk", disk = (path = "worker", writable = true)),
]);

const driver :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "shards-driver.mjs")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "one", service = "one"), (name = "other", service = "other")],
);

const one :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "shards-bundle.mjs")],
  compatibilityDate = "2026-01-01",
  durableObjectNamespaces = [(className = "Buckets", uniqueKey = "buckets", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "BUCKETS", durableObjectNamespace = "Buckets")],
);

const other :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "shards-bundle.mjs")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "BUCKETS", durableObjectNamespace = (className = "Buckets", serviceName = "one"))],
);
