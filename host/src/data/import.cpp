// SPDX-License-Identifier: Apache-2.0
// Imports through front ends, and writes whole dataset directories.
#include "data/import.hpp"

#include "data/staging.hpp"
#include "pipeline.hpp"

namespace omen::host {
namespace fs = std::filesystem;

Tables import_with(const std::string& component, const std::vector<std::string>& paths,
                   const TextPairs& options) {
  const Registry registry = Registry::discover({});
  const Components components(registry, {});
  const ComponentRef ref = registry.component(OMEN_GRAPH_FRONTEND, component);
  FlagBook flags(options, {});
  const OptionValues values = resolve_options(*ref.info, flags.sources_for(*ref.info));
  flags.finish();
  if (paths.empty() && !(ref.info->caps & OMEN_CAP_GENERATES))
    throw Error(OMEN_INVALID_ARGUMENT, component + " does not generate workloads",
                "Give it files to read.");
  std::vector<Tables> parts;
  for (const std::string& path : paths.empty() ? std::vector<std::string>{""} : paths)
    parts.push_back(lower(components, path, ref, values).tables);
  for (const Tables& part : parts)
    if (!same_columns(part, parts[0]))
      throw Error(OMEN_INVALID_DATA, component + " gives different columns for these files",
                  "Import them as separate datasets.");
  return merge(parts);
}

DatasetInfo write_dataset_directory(DatasetInfo info, const Tables& tables,
                                    const fs::path& directory) {
  StagedDirectory staged(directory);
  DatasetFile file{"tables.omt", "", {}};
  for (const auto& [name, table] : tables) {
    file.tables.push_back(name);
    info.rows[name] = table.rows();
  }
  write_dataset(staged.path() / file.name, tables);
  info.files = {file};
  info.directory = staged.path();
  info = seal_dataset(std::move(info));
  staged.commit();
  info.directory = directory;
  return info;
}

}  // namespace omen::host
