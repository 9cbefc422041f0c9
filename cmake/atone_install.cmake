# find_package(atone) for installed use: filled by install rules.
